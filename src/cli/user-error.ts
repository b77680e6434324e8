/** The exit codes that a caller can rely on. */
export const EXIT_CODE = {
  ok: 0,
  failure: 1,
  signIn: 41,
  input: 42,
  config: 52,
  turnLimit: 53,
  interrupted: 130,
} as const

/** Something that the person can mend: one clear sentence and an exit code, never a stack trace. */
export class UserError extends Error {
  readonly exitCode: number

  constructor(message: string, code: number = EXIT_CODE.input) {
    super(message)
    this.exitCode = code
  }
}
