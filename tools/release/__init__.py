"""What must hold before a release."""
