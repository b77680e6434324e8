/** For servers that pass on the requests of other clients; loaded on demand. */
export { forwardRequest, type ForwardRequest } from './forward-request.ts'
export { estimateUsage } from './middleware/budget.ts'
export { completeProfile } from './resolve-capabilities.ts'
