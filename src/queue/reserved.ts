// Inserts rows that this node has reserved capacity for, and hands them to its worker.
import { wasOutrun } from '../db/expect-rows.ts'
import type { Leased, Reservation } from './worker.ts'

/** After an error the rows may exist all the same, as the answer to a commit can be lost; if it was outrun, there are none. */
export async function insertReserved<Result extends { readonly preLeased: readonly Leased[] } | undefined>(
  reservation: Reservation | undefined,
  insert: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await insert()
    reservation?.give(result?.preLeased ?? [])
    return result
  } catch (error) {
    if (wasOutrun(error)) reservation?.give([])
    else reservation?.lose()
    throw error
  }
}
