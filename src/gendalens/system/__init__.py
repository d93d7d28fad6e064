"""Safeguards against hostile files, databases, hubs and templates, and too little memory; plug-ins."""
