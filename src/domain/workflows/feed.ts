// A feed: a named part of the in-app feed, which steps put their messages into.

export interface Feed {
  readonly _id: string
  readonly identifier: string
  readonly name: string
  readonly _environmentId: string
  readonly _organizationId: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** Tabs of an inbox; no one has as many. */
export const feedsMax = 500
