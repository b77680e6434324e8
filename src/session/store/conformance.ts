import { blobCases } from './conformance/blob-cases.ts'
import { entryCases } from './conformance/entry-cases.ts'
import { followCases } from './conformance/follow-cases.ts'
import { leaseCases } from './conformance/lease-cases.ts'
import { listCases } from './conformance/list-cases.ts'
import { openingCases } from './conformance/opening-cases.ts'
import type { StoreCase } from './conformance/store-case.ts'

export type { StoreCase, StoreSetup } from './conformance/store-case.ts'

/** The requirements of every store, for any test runner: run these against a store of your own. */
export const storeConformance: readonly StoreCase[] = [
  ...entryCases,
  ...openingCases,
  ...leaseCases,
  ...followCases,
  ...listCases,
  ...blobCases,
]
