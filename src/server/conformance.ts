import type { BackendCase } from './conformance/backend-case.ts'
import { messageCases } from './conformance/message-cases.ts'
import { queueCases } from './conformance/queue-cases.ts'

export type { BackendCase, BackendSetup } from './conformance/backend-case.ts'

/** The requirements of every backend, for any test runner. */
export const backendConformance: readonly BackendCase[] = [...queueCases, ...messageCases]
