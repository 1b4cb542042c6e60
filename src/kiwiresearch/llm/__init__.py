"""The model gateway: how a local language model is asked, and what is believed of its replies."""
