"""Which records mean one person: scores that explain themselves, vetoes, and proposals that can be undone."""
