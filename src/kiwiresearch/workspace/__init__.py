"""What a user works with: settings, folders, the shelf of books, hosts, and finding and asking over them."""
