/** Who decided whether a call runs, and how. */
export type CallDecision =
  | { readonly by: 'policy'; readonly outcome: 'allowed' | 'denied'; readonly rule: string }
  | { readonly by: 'user'; readonly outcome: 'allowed' | 'modified' | 'denied' | 'answered' }
  /** A hook of the user, or of a project that the user trusts. */
  | { readonly by: 'hook'; readonly outcome: 'allowed' | 'denied' }
  /** An answer of the user to another question covers this call, too. */
  | { readonly by: 'earlier-answer'; readonly outcome: 'allowed' }
  /** Approval was needed, and there was no user to ask. A plan is then the result of the run. */
  | { readonly by: 'nobody'; readonly outcome: 'denied' | 'plan-handed-over' | 'unanswered' }
