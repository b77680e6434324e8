/** A command: what the help says of it, and how it is loaded when it is called for. */
export interface Command {
  readonly about: string
  run(args: string[]): Promise<number | void>
  /** For programs, not for people. */
  readonly hidden?: true
}

/** The commands, in the order of the help. What each takes is in `manual/`. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  login: {
    about: 'store a key or a sign-in',
    run: async (args) => (await import('./command/login.ts')).loginCommand(args),
  },
  logout: {
    about: 'forget a key or a sign-in',
    run: async (args) => (await import('./command/login.ts')).logoutCommand(args),
  },
  models: {
    about: 'what can be used here, with window and price, and why the rest cannot',
    run: async (args) => (await import('./command/models.ts')).modelsCommand(args),
  },
  mcp: {
    about: 'servers that offer tools: add, remove, list, test, login, import',
    run: async (args) => (await import('./command/mcp.ts')).mcpCommand(args),
  },
  sessions: {
    about: 'list, show, export and remove sessions',
    run: async (args) => (await import('./command/sessions.ts')).sessionsCommand(args),
  },
  undo: {
    about: 'put files back as they were before a turn',
    run: async (args) => (await import('./command/undo.ts')).undoCommand(args),
  },
  config: {
    about: 'the settings that hold here, and where they are from',
    run: async (args) => (await import('./command/config.ts')).configCommand(args),
  },
  trust: {
    about: 'whether the settings of a project are used',
    run: async (args) => (await import('./command/trust.ts')).trustCommand(args),
  },
  policy: {
    about: 'try out rules, and say what they mean',
    run: async (args) => (await import('./command/policy.ts')).policyCommand(args),
  },
  doctor: {
    about: 'examine a model live; or, with --local, this machine',
    run: async (args) => (await import('./command/doctor.ts')).doctorCommand(args),
  },
  replay: {
    about: 'play a recorded session again, and see what differs',
    run: async (args) => (await import('./command/replay.ts')).replayCommand(args),
  },
  bug: {
    about: 'make a file for a report, without secrets',
    run: async (args) => (await import('./command/bug.ts')).bugCommand(args),
  },
  tour: {
    about: 'a scripted tour, with no key and no network',
    run: async (args) => (await import('./command/tour.ts')).tourCommand(args),
  },
  rehearse: {
    about: 'a scripted model server, to try clients against',
    run: async (args) => (await import('./command/rehearse.ts')).rehearseCommand(args),
  },
  wire: {
    about: 'read and write what goes over the wire, to debug a provider',
    run: async (args) => (await import('./command/wire.ts')).wireCommand(args),
  },
  completion: {
    about: 'what makes a shell complete these words',
    run: async (args) => (await import('./command/completion.ts')).completionCommand(args),
  },
  __complete: {
    about: 'what could stand next on a command line',
    run: async (args) => (await import('./command/complete.ts')).completeCommand(args),
    hidden: true,
  },
}
