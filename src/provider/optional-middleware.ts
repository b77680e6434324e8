/** Middleware for runs with a budget or several models; loaded on demand. */
export { createBudgetLedger, withBudget, type BudgetLedger, type SpendingRecord } from './middleware/budget.ts'
export { withFallback } from './middleware/fallback.ts'
