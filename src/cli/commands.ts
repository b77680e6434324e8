/** How each command is run; it is loaded when it is called. What each takes is in its `spec.ts`. */
export const COMMAND_LOADERS = {
  login: async (args) => (await import('./command/login/login.ts')).runLoginCommand(args),
  logout: async (args) => (await import('./command/login/login.ts')).runLogoutCommand(args),
  models: async (args) => (await import('./command/models/models.ts')).runModelsCommand(args),
  mcp: async (args) => (await import('./command/mcp/mcp.ts')).runMcpCommand(args),
  acp: async (args) => (await import('./command/acp/acp.ts')).runAcpCommand(args),
  sessions: async (args) => (await import('./command/sessions/sessions.ts')).runSessionsCommand(args),
  import: async (args) => (await import('./command/import/import.ts')).runImportCommand(args),
  undo: async (args) => (await import('./command/undo/undo.ts')).runUndoCommand(args),
  config: async (args) => (await import('./command/config/config.ts')).runConfigCommand(args),
  trust: async (args) => (await import('./command/trust/trust.ts')).runTrustCommand(args),
  policy: async (args) => (await import('./command/policy/policy.ts')).runPolicyCommand(args),
  doctor: async (args) => (await import('./command/doctor/doctor.ts')).runDoctorCommand(args),
  replay: async (args) => (await import('./command/replay/replay.ts')).runReplayCommand(args),
  bug: async (args) => (await import('./command/bug/bug.ts')).runBugCommand(args),
  tour: async (args) => (await import('./command/tour/tour.ts')).runTourCommand(args),
  gateway: async (args) => (await import('./command/gateway/gateway.ts')).runGatewayCommand(args),
  inspect: async (args) => (await import('./command/inspect/inspect.ts')).runInspectCommand(args),
  rehearse: async (args) => (await import('./command/rehearse/rehearse.ts')).runRehearseCommand(args),
  serve: async (args) => (await import('./command/serve/serve.ts')).runServeCommand(args),
  worker: async (args) => (await import('./command/worker/worker.ts')).runWorkerCommand(args),
  wire: async (args) => (await import('./command/wire/wire.ts')).runWireCommand(args),
  completion: async (args) => (await import('./command/completion/shell-script.ts')).runCompletionCommand(args),
} as const satisfies Readonly<Record<string, (args: string[]) => Promise<number | void>>>

export type CommandName = keyof typeof COMMAND_LOADERS

export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMAND_LOADERS, word)
}

/** The words that are not a prompt when they stand alone, for mistyped ones. */
export const COMMAND_WORDS: readonly string[] = [...Object.keys(COMMAND_LOADERS), 'help', 'version']
