"""Quality, measured on labelled sets and held by pinned floors."""
