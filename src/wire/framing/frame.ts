export type Frame =
  | { readonly kind: 'json'; readonly value: unknown; readonly event?: string }
  /** Invalid JSON, or JSON that nests too `deep`. Its content is lost, so open calls must not run (T114). */
  | { readonly kind: 'bad'; readonly text: string; readonly event?: string; readonly deep?: true }
  /** The `[DONE]` line. It is only a hint (T111). */
  | { readonly kind: 'done' }
  /** The whole body was one JSON object, so nothing of it is missing, whatever it says about its end (T198). */
  | { readonly kind: 'complete' }
  /** A comment line: a keep-alive, or the place where some servers put a status (T107). */
  | { readonly kind: 'comment'; readonly text: string }

/** The HTTP status that some servers put into a comment. */
export function readStatusComment(comment: string): number | undefined {
  const status = /^\s*HTTP_STATUS\/(\d{3})/.exec(comment)?.[1]
  return status === undefined ? undefined : Number(status)
}
