"""Why a segment search found nothing: the smallest parts of its pattern without a segment."""
