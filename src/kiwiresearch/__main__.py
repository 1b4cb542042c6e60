"""`python -m kiwiresearch` does what the command `kiwiresearch` does."""

from kiwiresearch.cli import main

if __name__ == "__main__":
    main()
