import type { AuthMethod } from '../../../acp/protocol.ts'
import { ERROR_CODE, ProtocolError } from '../../../acp/protocol.ts'
import type { AcpSetup } from '../../../acp/setup.ts'
import { providers } from '../../../provider/index.ts'
import type { RunArgs } from '../../args/run-args.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { version } from '../../version.ts'

/** Assembles agents for editors. Everything but the ways to sign in is loaded when it is needed. */
export function createEditorSetup(args: RunArgs): AcpSetup {
  return {
    version,
    listAuthMethods,
    authenticate: () =>
      withProtocolErrors(async () => {
        const [{ detectModel }, { readSettings }] = await Promise.all([
          import('../../setup/choose-model.ts'),
          import('../../config/read-settings.ts'),
        ])
        const { config } = readSettings(process.cwd())
        if ((args.model ?? (await detectModel(config))) !== undefined) return
        throw new UserError(`no key was found; ${SIGN_IN_HINT}`, EXIT_CODE.signIn)
      }),
    logout: () => withProtocolErrors(async () => (await import('./sign-out.ts')).signOut(args.model)),
    listSessions: (folder) =>
      withProtocolErrors(async () => (await import('./stored-sessions.ts')).listStoredSessions(folder)),
    removeSession: (id) =>
      withProtocolErrors(async () => (await import('./stored-sessions.ts')).removeStoredSession(id)),
    openSession: (target, frontEnd) =>
      withProtocolErrors(async () =>
        (await import('./open-editor-session.ts')).openEditorSession(args, target, frontEnd, withProtocolErrors),
      ),
  }
}

const SIGN_IN_HINT =
  'set an API key in the environment of the editor (GEMINI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, …), or run dragoman login on a terminal'

/** The providers that a client offers by name; the others are reached through the first method. */
const NAMED_PROVIDERS = ['gemini', 'openai', 'anthropic', 'openrouter']

function listAuthMethods(hasTerminal: boolean): AuthMethod[] {
  const variables = providers
    .filter(({ id }) => NAMED_PROVIDERS.includes(id))
    .flatMap(({ keys }) => keys.slice(0, 1))
    .join(', ')
  const terminalMethods: AuthMethod[] = [
    ...NAMED_PROVIDERS.map((id): AuthMethod => ({
      type: 'terminal',
      id: `login-${id}`,
      name: `Store a key for ${id}`,
      description: `Asks for an API key of ${id} on a terminal, checks it and stores it.`,
      args: ['--login', id],
    })),
    {
      type: 'terminal',
      id: 'login',
      name: 'Store a key for another provider',
      description: 'Asks for the provider and its API key on a terminal.',
      args: ['--login'],
    },
  ]
  return [
    {
      id: 'key',
      name: 'API key of this machine',
      description: `Uses a key in the environment (${variables}, …), one that dragoman login has stored, or a model server on this machine.`,
    },
    ...(hasTerminal ? terminalMethods : []),
  ]
}

/** What the user can fix is told to the client, with the code that makes it offer to sign in. */
async function withProtocolErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const code = error.exitCode === EXIT_CODE.signIn ? ERROR_CODE.authRequired : ERROR_CODE.invalidParams
    throw new ProtocolError(code, `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`)
  }
}
