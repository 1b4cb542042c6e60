"""From a page to what it says about one person, each value with the words that say it."""
