/** For runs that record, trace or replay their traffic; loaded on demand. */
export {
  recordExchanges,
  type OmittedExchange,
  type RecordedExchange,
} from './middleware/recording/record-exchanges.ts'
export { createReplayClient } from './middleware/recording/replay-client.ts'
export type { RequestDifference } from './middleware/recording/request-difference.ts'
export { traceExchanges } from './middleware/trace-exchanges.ts'
