-- What it found is found by messages_not_sent.
drop index messages_unsent;
