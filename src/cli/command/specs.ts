import type { CommandName } from '../commands.ts'
import { ACP_COMMAND } from './acp/spec.ts'
import { BUG_COMMAND } from './bug/spec.ts'
import { COMPLETION_COMMAND } from './completion/spec.ts'
import { CONFIG_COMMAND } from './config/spec.ts'
import { DOCTOR_COMMAND } from './doctor/spec.ts'
import { GATEWAY_COMMAND } from './gateway/spec.ts'
import { IMPORT_COMMAND } from './import/spec.ts'
import { INSPECT_COMMAND } from './inspect/spec.ts'
import { LOGIN_COMMAND, LOGOUT_COMMAND } from './login/spec.ts'
import { MCP_COMMAND } from './mcp/spec.ts'
import { MODELS_COMMAND } from './models/spec.ts'
import type { CliCommandSpec } from './spec.ts'
import { POLICY_COMMAND } from './policy/spec.ts'
import { REHEARSE_COMMAND } from './rehearse/spec.ts'
import { REPLAY_COMMAND } from './replay/spec.ts'
import { SERVE_COMMAND } from './serve/spec.ts'
import { SESSIONS_COMMAND } from './sessions/spec.ts'
import { TOUR_COMMAND } from './tour/spec.ts'
import { TRUST_COMMAND } from './trust/spec.ts'
import { UNDO_COMMAND } from './undo/spec.ts'
import { WIRE_COMMAND } from './wire/spec.ts'
import { WORKER_COMMAND } from './worker/spec.ts'

/** Every command, in the order of the help. */
export const COMMAND_SPECS: Readonly<Record<CommandName, CliCommandSpec>> = {
  login: LOGIN_COMMAND,
  logout: LOGOUT_COMMAND,
  models: MODELS_COMMAND,
  mcp: MCP_COMMAND,
  acp: ACP_COMMAND,
  sessions: SESSIONS_COMMAND,
  import: IMPORT_COMMAND,
  undo: UNDO_COMMAND,
  config: CONFIG_COMMAND,
  trust: TRUST_COMMAND,
  policy: POLICY_COMMAND,
  doctor: DOCTOR_COMMAND,
  replay: REPLAY_COMMAND,
  bug: BUG_COMMAND,
  tour: TOUR_COMMAND,
  gateway: GATEWAY_COMMAND,
  inspect: INSPECT_COMMAND,
  rehearse: REHEARSE_COMMAND,
  serve: SERVE_COMMAND,
  worker: WORKER_COMMAND,
  wire: WIRE_COMMAND,
  completion: COMPLETION_COMMAND,
}
