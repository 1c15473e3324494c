-- What a subscriber wants to hear of through one subscription to a topic, by the workflow's internal id:
-- {"enabled": false}, or {"enabled": true, "condition": …}. Null for nearly all: they want everything that the topic is sent.
alter table topic_subscriptions add column preferences jsonb;
