/** One frame of a response, whatever framing it came in. */
export type Frame =
  | { readonly kind: 'json'; readonly value: unknown; readonly event?: string }
  /** Text that should have been JSON, or JSON that nests too `deep`. What it held is lost, so open calls must not run (T114). */
  | { readonly kind: 'bad'; readonly text: string; readonly event?: string; readonly deep?: true }
  /** The `[DONE]` line. It is a hint only (T111). */
  | { readonly kind: 'done' }
  /** A comment line: a sign of life that says nothing, except where a server hides a status in it (T107). */
  | { readonly kind: 'comment'; readonly text: string }

/** Cuts the bytes of one response into frames. It holds one UTF-8 decoder, so chunks may split anywhere (T105). */
export interface Framer {
  push(bytes: Uint8Array): Frame[]
  end(): Frame[]
}
