// Made of docs/openapi.json by `npm run docs`: what a step may hold, which its forms are made of.
import type { Schema } from './schema.ts'

export const stepSchema: Schema = {
  "type": "object",
  "required": [
    "template"
  ],
  "properties": {
    "_id": {
      "type": "string",
      "maxLength": 255,
      "description": "On an update: the step that this one replaces, or one that an earlier version had; open digests continue with it."
    },
    "uuid": {
      "type": "string",
      "maxLength": 255,
      "description": "Your own id of the step. Default: its `_id`."
    },
    "_parentId": {
      "type": [
        "string",
        "null"
      ],
      "maxLength": 255,
      "description": "The `_id` or `uuid` of the step before it. If all steps omit it, they run in the order of the list."
    },
    "name": {
      "type": "string",
      "maxLength": 255,
      "description": "A display name."
    },
    "active": {
      "type": "boolean",
      "description": "True by default."
    },
    "shouldStopOnFail": {
      "type": "boolean",
      "description": "Whether the steps after it are canceled when it fails; false by default."
    },
    "template": {
      "type": "object",
      "required": [
        "type"
      ],
      "properties": {
        "type": {
          "type": "string",
          "maxLength": 64,
          "description": "The type of the step: `in_app`, `email`, `sms`, `chat`, `push`, `digest`, `delay`, `throttle`, `custom`."
        },
        "contentType": {
          "type": "string",
          "enum": [
            "editor",
            "customHtml"
          ],
          "description": "E-mail: blocks, or HTML."
        },
        "subject": {
          "type": "string",
          "maxLength": 4096,
          "description": "E-mail and in-app: the subject, as a template.",
          "contentMediaType": "text/x-liquid"
        },
        "preheader": {
          "type": "string",
          "maxLength": 4096,
          "description": "E-mail: the preview text shown next to the subject, as a template.",
          "contentMediaType": "text/x-liquid"
        },
        "senderName": {
          "type": "string",
          "maxLength": 4096,
          "description": "E-mail: replaces the sender name of the integration; a template.",
          "contentMediaType": "text/x-liquid"
        },
        "layoutId": {
          "type": [
            "string",
            "null"
          ],
          "maxLength": 255,
          "description": "E-mail: null or `none` for no layout."
        },
        "title": {
          "type": "string",
          "maxLength": 4096,
          "description": "Push: the title, as a template.",
          "contentMediaType": "text/x-liquid"
        },
        "from": {
          "type": "object",
          "required": [
            "email"
          ],
          "properties": {
            "email": {
              "type": "string",
              "maxLength": 4096,
              "description": "A template.",
              "contentMediaType": "text/x-liquid"
            },
            "name": {
              "type": "string",
              "maxLength": 4096,
              "description": "A template.",
              "contentMediaType": "text/x-liquid"
            }
          },
          "description": "E-mail: replaces the sender of the integration."
        },
        "replyTo": {
          "type": "string",
          "maxLength": 4096,
          "description": "E-mail: the reply-to address, as a template.",
          "contentMediaType": "text/x-liquid"
        },
        "disableOutputSanitization": {
          "type": "boolean",
          "description": "E-mail and in-app: switches off the sanitizing of values from the payload."
        },
        "cta": {
          "type": "object",
          "properties": {
            "data": {
              "type": "object",
              "properties": {
                "url": {
                  "type": "string",
                  "maxLength": 4096,
                  "description": "The URL that a click opens, as a template.",
                  "contentMediaType": "text/x-liquid"
                },
                "target": {
                  "type": "string",
                  "enum": [
                    "_self",
                    "_blank",
                    "_parent",
                    "_top",
                    "_unfencedTop"
                  ]
                }
              }
            },
            "action": {
              "type": "object",
              "properties": {
                "buttons": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "required": [
                      "type",
                      "content"
                    ],
                    "properties": {
                      "type": {
                        "type": "string",
                        "enum": [
                          "primary",
                          "secondary"
                        ]
                      },
                      "content": {
                        "type": "string",
                        "maxLength": 4096,
                        "description": "A template.",
                        "contentMediaType": "text/x-liquid"
                      },
                      "resultContent": {
                        "type": "string",
                        "maxLength": 4096,
                        "description": "The label after it was pressed, as a template.",
                        "contentMediaType": "text/x-liquid"
                      },
                      "redirect": {
                        "type": "object",
                        "required": [
                          "url"
                        ],
                        "properties": {
                          "url": {
                            "type": "string",
                            "maxLength": 4096,
                            "description": "A template.",
                            "contentMediaType": "text/x-liquid"
                          },
                          "target": {
                            "type": "string",
                            "enum": [
                              "_self",
                              "_blank",
                              "_parent",
                              "_top",
                              "_unfencedTop"
                            ]
                          }
                        },
                        "description": "The URL that pressing it opens."
                      }
                    }
                  },
                  "maxItems": 2
                },
                "status": {
                  "type": "string",
                  "enum": [
                    "pending",
                    "done"
                  ]
                },
                "result": {
                  "type": "object",
                  "properties": {
                    "payload": {
                      "type": "object",
                      "additionalProperties": true
                    },
                    "type": {
                      "type": "string",
                      "enum": [
                        "primary",
                        "secondary"
                      ]
                    }
                  }
                }
              }
            },
            "type": {
              "type": "string",
              "enum": [
                "redirect"
              ]
            }
          },
          "title": "MessageCta",
          "description": "In-app: the buttons of the message."
        },
        "actor": {
          "type": "object",
          "required": [
            "type",
            "data"
          ],
          "properties": {
            "type": {
              "type": "string",
              "enum": [
                "none",
                "user",
                "system_icon",
                "system_custom"
              ]
            },
            "data": {
              "type": [
                "string",
                "null"
              ],
              "maxLength": 4096,
              "default": null,
              "description": "The icon by its name, or the URL of an image."
            }
          },
          "description": "In-app: whose image is shown."
        },
        "feedId": {
          "type": [
            "string",
            "null"
          ],
          "maxLength": 255,
          "description": "In-app: the feed of the message."
        },
        "variables": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "name"
            ],
            "properties": {
              "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": 255
              },
              "type": {
                "type": "string",
                "enum": [
                  "String",
                  "Array",
                  "Boolean"
                ]
              },
              "required": {
                "type": "boolean"
              },
              "defaultValue": {}
            }
          },
          "maxItems": 100,
          "description": "The payload fields that the templates use; for editors."
        },
        "data": {
          "type": "object",
          "additionalProperties": true,
          "description": "In-app: custom data of the message."
        },
        "name": {
          "type": "string",
          "maxLength": 255,
          "description": "A display name of the template."
        },
        "content": {
          "type": [
            "string",
            "array"
          ],
          "maxLength": 262144,
          "maxItems": 100,
          "items": {
            "type": "object",
            "required": [
              "type",
              "content"
            ],
            "properties": {
              "type": {
                "type": "string",
                "enum": [
                  "button",
                  "text"
                ]
              },
              "content": {
                "type": "string",
                "maxLength": 65536,
                "description": "A template.",
                "contentMediaType": "text/x-liquid"
              },
              "url": {
                "type": "string",
                "maxLength": 4096,
                "description": "The URL that a button opens, as a template.",
                "contentMediaType": "text/x-liquid"
              },
              "styles": {
                "type": "object",
                "properties": {
                  "textAlign": {
                    "type": "string",
                    "enum": [
                      "center",
                      "left",
                      "right"
                    ]
                  }
                }
              }
            },
            "title": "EmailBlock"
          },
          "description": "The content, as a template; for an e-mail with the contentType `editor`, a list of blocks.",
          "contentMediaType": "text/x-liquid"
        },
        "_layoutId": {
          "type": [
            "string",
            "null"
          ],
          "maxLength": 255,
          "description": "Alias of `layoutId`."
        },
        "_feedId": {
          "type": [
            "string",
            "null"
          ],
          "maxLength": 255,
          "description": "Alias of `feedId`."
        }
      },
      "title": "StepTemplateInput",
      "description": "The content of a step, in Liquid. Which fields apply depends on its type: `x-steps` lists them by type.",
      "x-steps": {
        "email": [
          "subject",
          "preheader",
          "senderName",
          "layoutId",
          "contentType",
          "from",
          "replyTo",
          "disableOutputSanitization",
          "content",
          "variables",
          "name"
        ],
        "in_app": [
          "subject",
          "cta",
          "actor",
          "feedId",
          "data",
          "disableOutputSanitization",
          "content",
          "variables",
          "name"
        ],
        "sms": [
          "content",
          "variables",
          "name"
        ],
        "chat": [
          "content",
          "variables",
          "name"
        ],
        "push": [
          "title",
          "content",
          "variables",
          "name"
        ]
      }
    },
    "filters": {
      "type": "array",
      "items": {
        "type": "object",
        "required": [
          "isNegated",
          "type",
          "value",
          "children"
        ],
        "properties": {
          "isNegated": {
            "type": "boolean",
            "default": false
          },
          "type": {
            "type": "string",
            "enum": [
              "BOOLEAN",
              "TEXT",
              "DATE",
              "NUMBER",
              "STATEMENT",
              "LIST",
              "MULTI_LIST",
              "GROUP"
            ],
            "default": "GROUP"
          },
          "value": {
            "type": "string",
            "enum": [
              "AND",
              "OR"
            ],
            "default": "AND"
          },
          "children": {
            "type": "array",
            "items": {
              "type": "object",
              "required": [
                "on"
              ],
              "properties": {
                "on": {
                  "type": "string",
                  "enum": [
                    "subscriber",
                    "payload",
                    "tenant",
                    "webhook",
                    "isOnline",
                    "isOnlineInLast",
                    "previousStep"
                  ],
                  "description": "What the condition is about; it determines which of the other fields apply."
                },
                "field": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 255,
                  "description": "A path into the payload, the subscriber, the tenant or the webhook response."
                },
                "value": {
                  "type": [
                    "boolean",
                    "number",
                    "string"
                  ],
                  "maxLength": 1024,
                  "description": "The value to compare with, as a template; true or false for `isOnline`; a number for `isOnlineInLast`."
                },
                "operator": {
                  "type": "string",
                  "enum": [
                    "LARGER",
                    "SMALLER",
                    "LARGER_EQUAL",
                    "SMALLER_EQUAL",
                    "EQUAL",
                    "NOT_EQUAL",
                    "ALL_IN",
                    "ANY_IN",
                    "NOT_IN",
                    "BETWEEN",
                    "NOT_BETWEEN",
                    "LIKE",
                    "NOT_LIKE",
                    "IN"
                  ]
                },
                "webhookUrl": {
                  "type": "string",
                  "maxLength": 2048,
                  "format": "web-address",
                  "description": "For `webhook`: receives a signed POST with `{subscriber, payload, identifier, channel}` and returns a JSON object."
                },
                "timeOperator": {
                  "type": "string",
                  "enum": [
                    "minutes",
                    "hours",
                    "days"
                  ],
                  "description": "For `isOnlineInLast`."
                },
                "step": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 255,
                  "description": "For `previousStep`: the `uuid`, the `_id` or the slug of the name of an earlier step."
                },
                "stepType": {
                  "type": "string",
                  "enum": [
                    "read",
                    "unread",
                    "seen",
                    "unseen",
                    "sent",
                    "unsent"
                  ],
                  "description": "For `previousStep`: the state of its messages. True if it has none."
                }
              },
              "title": "StepFilterPart"
            },
            "maxItems": 50,
            "default": []
          },
          "moreChildren": {
            "type": "array",
            "items": {
              "type": "object",
              "required": [
                "on"
              ],
              "properties": {
                "on": {
                  "type": "string",
                  "enum": [
                    "subscriber",
                    "payload",
                    "tenant",
                    "webhook",
                    "isOnline",
                    "isOnlineInLast",
                    "previousStep"
                  ],
                  "description": "What the condition is about; it determines which of the other fields apply."
                },
                "field": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 255,
                  "description": "A path into the payload, the subscriber, the tenant or the webhook response."
                },
                "value": {
                  "type": [
                    "boolean",
                    "number",
                    "string"
                  ],
                  "maxLength": 1024,
                  "description": "The value to compare with, as a template; true or false for `isOnline`; a number for `isOnlineInLast`."
                },
                "operator": {
                  "type": "string",
                  "enum": [
                    "LARGER",
                    "SMALLER",
                    "LARGER_EQUAL",
                    "SMALLER_EQUAL",
                    "EQUAL",
                    "NOT_EQUAL",
                    "ALL_IN",
                    "ANY_IN",
                    "NOT_IN",
                    "BETWEEN",
                    "NOT_BETWEEN",
                    "LIKE",
                    "NOT_LIKE",
                    "IN"
                  ]
                },
                "webhookUrl": {
                  "type": "string",
                  "maxLength": 2048,
                  "format": "web-address",
                  "description": "For `webhook`: receives a signed POST with `{subscriber, payload, identifier, channel}` and returns a JSON object."
                },
                "timeOperator": {
                  "type": "string",
                  "enum": [
                    "minutes",
                    "hours",
                    "days"
                  ],
                  "description": "For `isOnlineInLast`."
                },
                "step": {
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 255,
                  "description": "For `previousStep`: the `uuid`, the `_id` or the slug of the name of an earlier step."
                },
                "stepType": {
                  "type": "string",
                  "enum": [
                    "read",
                    "unread",
                    "seen",
                    "unseen",
                    "sent",
                    "unsent"
                  ],
                  "description": "For `previousStep`: the state of its messages. True if it has none."
                }
              },
              "title": "StepFilterPart"
            },
            "maxItems": 50,
            "description": "Conditions that some clients cannot read, such as those on the tenant. Responses return them here; both lists are combined."
          }
        },
        "title": "StepFilter"
      },
      "maxItems": 20,
      "description": "The step runs if any of them passes; none means always."
    },
    "metadata": {
      "type": "object",
      "required": [
        "type"
      ],
      "properties": {
        "type": {
          "type": "string",
          "enum": [
            "regular",
            "backoff",
            "timed",
            "scheduled",
            "dynamic",
            "fixed",
            "http"
          ],
          "description": "A digest is `regular`, `backoff` or `timed`; a delay `regular`, `scheduled`, `timed` or `dynamic`; a throttle `fixed` or `dynamic`; a custom step `http`."
        },
        "amount": {
          "type": "number",
          "description": "How many of `unit`: a whole number, 1 or more."
        },
        "unit": {
          "type": "string",
          "enum": [
            "seconds",
            "minutes",
            "hours",
            "days",
            "weeks",
            "months"
          ]
        },
        "digestKey": {
          "type": "string",
          "maxLength": 255,
          "description": "Digest: a path into the payload; events with different values get separate digests."
        },
        "backoff": {
          "type": "boolean",
          "description": "Digest: whether an event after a quiet time is processed at once."
        },
        "backoffAmount": {
          "type": "number",
          "description": "Digest: the length of that quiet time. Default: that of the digest."
        },
        "backoffUnit": {
          "type": "string",
          "enum": [
            "seconds",
            "minutes",
            "hours",
            "days",
            "weeks",
            "months"
          ]
        },
        "updateMode": {
          "type": "boolean",
          "description": "Digest: stored for other clients; it changes nothing."
        },
        "timed": {
          "type": "object",
          "properties": {
            "atTime": {
              "type": "string",
              "maxLength": 16,
              "description": "`HH:mm` or `HH:mm:ss` in 24-hour time, or `9am`, `9:30 PM`."
            },
            "weekDays": {
              "type": "array",
              "items": {
                "type": "string",
                "enum": [
                  "monday",
                  "tuesday",
                  "wednesday",
                  "thursday",
                  "friday",
                  "saturday",
                  "sunday"
                ]
              },
              "maxItems": 7
            },
            "monthlyType": {
              "type": "string",
              "enum": [
                "each",
                "on"
              ]
            },
            "monthDays": {
              "type": "array",
              "items": {
                "type": [
                  "string",
                  "integer"
                ],
                "maxLength": 2
              },
              "maxItems": 31
            },
            "ordinal": {
              "type": "string",
              "enum": [
                "1",
                "2",
                "3",
                "4",
                "5",
                "last"
              ]
            },
            "ordinalValue": {
              "type": "string",
              "enum": [
                "day",
                "weekday",
                "weekend",
                "monday",
                "tuesday",
                "wednesday",
                "thursday",
                "friday",
                "saturday",
                "sunday"
              ]
            }
          }
        },
        "cron": {
          "type": "string",
          "maxLength": 255,
          "description": "Timed: a cron expression with five fields, in the time zone of the subscriber; replaces amount, unit and `timed`."
        },
        "extendToSchedule": {
          "type": "boolean",
          "description": "Digest and delay: whether to extend the wait until the subscriber’s schedule allows delivery."
        },
        "delayPath": {
          "type": "string",
          "maxLength": 255,
          "description": "Delay: the path of a timestamp in the payload."
        },
        "dynamicKey": {
          "type": "string",
          "maxLength": 255,
          "description": "Delay and throttle: the path of a timestamp, or of `{amount, unit}`, in the payload."
        },
        "threshold": {
          "type": "number",
          "description": "Throttle: how many runs are allowed per window. Default: 1."
        },
        "throttleKey": {
          "type": "string",
          "maxLength": 255,
          "description": "Throttle: a path into the payload; different values are counted separately."
        },
        "url": {
          "type": "string",
          "maxLength": 4096,
          "description": "Custom: the URL of your service; everything but the host may be a template.",
          "contentMediaType": "text/x-liquid"
        },
        "method": {
          "type": "string",
          "enum": [
            "POST",
            "PUT",
            "PATCH"
          ],
          "description": "Custom: `POST` by default."
        },
        "headers": {
          "type": "object",
          "patternProperties": {
            "^.*$": {
              "type": "string",
              "maxLength": 4096,
              "contentMediaType": "text/x-liquid"
            }
          },
          "maxProperties": 50,
          "description": "Custom: additional headers, as templates."
        },
        "timeoutMs": {
          "type": "integer",
          "minimum": 1,
          "maximum": 60000,
          "description": "Custom: how long to wait for a response, in milliseconds: 100 to 20000. Default: 10000."
        },
        "continueOnFailure": {
          "type": "boolean",
          "description": "Custom: whether the next steps run after the call has finally failed."
        },
        "body": {
          "type": "object",
          "additionalProperties": true,
          "description": "Custom: additional fields of the body; strings are templates."
        }
      },
      "title": "StepMetadataInput",
      "description": "The settings of a digest, a delay, a throttle or a custom step. Which fields apply depends on its type and on `type`: `x-steps` lists them.",
      "x-steps": {
        "digest": {
          "regular": [
            "amount",
            "unit",
            "digestKey",
            "backoff",
            "backoffAmount",
            "backoffUnit",
            "updateMode",
            "extendToSchedule"
          ],
          "backoff": [
            "amount",
            "unit",
            "digestKey",
            "backoff",
            "backoffAmount",
            "backoffUnit",
            "updateMode",
            "extendToSchedule"
          ],
          "timed": [
            "amount",
            "unit",
            "timed",
            "cron",
            "digestKey",
            "extendToSchedule"
          ]
        },
        "delay": {
          "regular": [
            "amount",
            "unit",
            "extendToSchedule"
          ],
          "scheduled": [
            "delayPath",
            "extendToSchedule"
          ],
          "timed": [
            "amount",
            "unit",
            "timed",
            "cron",
            "extendToSchedule"
          ],
          "dynamic": [
            "dynamicKey",
            "extendToSchedule"
          ]
        },
        "throttle": {
          "fixed": [
            "amount",
            "unit",
            "threshold",
            "throttleKey"
          ],
          "dynamic": [
            "dynamicKey",
            "threshold",
            "throttleKey"
          ]
        },
        "custom": {
          "http": [
            "url",
            "method",
            "headers",
            "body",
            "timeoutMs",
            "continueOnFailure"
          ]
        }
      }
    },
    "skip": {
      "type": [
        "object",
        "null"
      ],
      "additionalProperties": true,
      "description": "A JsonLogic condition; if it is true, the step is skipped."
    },
    "replyCallback": {
      "type": "object",
      "properties": {
        "active": {
          "type": "boolean",
          "description": "Whether replies are reported."
        },
        "url": {
          "type": "string",
          "maxLength": 4096,
          "format": "web-address",
          "description": "Receives the replies."
        }
      },
      "description": "E-mail: replies to the message are sent to a URL of yours."
    },
    "variants": {
      "type": "array",
      "items": {
        "title": "StepVariantInput"
      },
      "maxItems": 10
    }
  },
  "title": "NotificationStepInput",
  "x-steps": {
    "in_app": [
      "variants"
    ],
    "email": [
      "variants",
      "replyCallback"
    ],
    "sms": [
      "variants"
    ],
    "chat": [
      "variants"
    ],
    "push": [
      "variants"
    ],
    "digest": [
      "metadata"
    ],
    "delay": [
      "metadata"
    ],
    "throttle": [
      "metadata"
    ],
    "custom": [
      "metadata"
    ]
  }
}
