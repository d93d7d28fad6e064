"""Safeguards against hostile files, databases, hubs and templates, memory limits and processors; plug-ins."""
