/** The exit codes are part of the interface. */
export const EXIT_CODE = {
  ok: 0,
  failure: 1,
  signIn: 41,
  input: 42,
  config: 52,
  turnLimit: 53,
  interrupted: 130,
} as const

/** An error that the user can fix: printed as one sentence, without a stack trace. */
export class UserError extends Error {
  readonly exitCode: number

  constructor(message: string, code: number = EXIT_CODE.input) {
    super(message)
    this.exitCode = code
  }
}
