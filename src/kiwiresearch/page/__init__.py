"""From HTML to a PageDoc."""
