/** A command: what the help says of it, and how it is loaded when it is called for. */
export interface CliCommand {
  readonly about: string
  run(args: string[]): Promise<number | void>
  /** For programs, not for people. */
  readonly hidden?: true
}

/** The commands, in the order of the help. What each takes is in `manual/`. */
export const CLI_COMMANDS: Readonly<Record<string, CliCommand>> = {
  login: {
    about: 'store a key or a sign-in',
    run: async (args) => (await import('./command/login/login.ts')).runLoginCommand(args),
  },
  logout: {
    about: 'forget a key or a sign-in',
    run: async (args) => (await import('./command/login/login.ts')).runLogoutCommand(args),
  },
  models: {
    about: 'what can be used here, with window and price, and why the rest cannot',
    run: async (args) => (await import('./command/models/models.ts')).runModelsCommand(args),
  },
  mcp: {
    about: 'servers that offer tools: add, remove, list, test, login, import',
    run: async (args) => (await import('./command/mcp/mcp.ts')).runMcpCommand(args),
  },
  sessions: {
    about: 'list, show, export and remove sessions',
    run: async (args) => (await import('./command/sessions/sessions.ts')).runSessionsCommand(args),
  },
  undo: {
    about: 'put files back as they were before a turn',
    run: async (args) => (await import('./command/undo/undo.ts')).runUndoCommand(args),
  },
  config: {
    about: 'the settings that hold here, and where they are from',
    run: async (args) => (await import('./command/config/config.ts')).runConfigCommand(args),
  },
  trust: {
    about: 'whether the settings of a project are used',
    run: async (args) => (await import('./command/trust/trust.ts')).runTrustCommand(args),
  },
  policy: {
    about: 'try out rules, and say what they mean',
    run: async (args) => (await import('./command/policy/policy.ts')).runPolicyCommand(args),
  },
  doctor: {
    about: 'examine a model live; or, with --local, this machine',
    run: async (args) => (await import('./command/doctor/doctor.ts')).runDoctorCommand(args),
  },
  replay: {
    about: 'play a recorded session again, and see what differs',
    run: async (args) => (await import('./command/replay/replay.ts')).runReplayCommand(args),
  },
  bug: {
    about: 'make a file for a report, without secrets',
    run: async (args) => (await import('./command/bug/bug.ts')).runBugCommand(args),
  },
  tour: {
    about: 'a scripted tour, with no key and no network',
    run: async (args) => (await import('./command/tour/tour.ts')).runTourCommand(args),
  },
  rehearse: {
    about: 'a scripted model server, to try clients against',
    run: async (args) => (await import('./command/rehearse/rehearse.ts')).runRehearseCommand(args),
  },
  wire: {
    about: 'read and write what goes over the wire, to debug a provider',
    run: async (args) => (await import('./command/wire/wire.ts')).runWireCommand(args),
  },
  completion: {
    about: 'what makes a shell complete these words',
    run: async (args) => (await import('./command/completion/shell-script.ts')).runCompletionCommand(args),
  },
  __complete: {
    about: 'what could stand next on a command line',
    run: async (args) => (await import('./command/completion/complete.ts')).runCompleteCommand(args),
    hidden: true,
  },
}
