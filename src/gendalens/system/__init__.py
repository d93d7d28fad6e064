"""Safeguards against memory limits, changing files and processors that advertise too much; plug-ins."""
