// A tenant: a customer of the caller's, named by triggers.

export interface NewTenant {
  readonly identifier: string
  readonly name?: string | null
  readonly data?: Readonly<Record<string, unknown>> | null
}

export interface Tenant {
  readonly _id: string
  readonly identifier: string
  readonly name?: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly _environmentId: string
  readonly _organizationId: string
  readonly createdAt: string
  readonly updatedAt: string
}
