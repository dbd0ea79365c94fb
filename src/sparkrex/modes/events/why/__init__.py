"""Why an event query did not match: which runs came furthest, and what each event or bound refused them."""
