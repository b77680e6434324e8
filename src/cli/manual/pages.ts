import { BUG } from './bug.ts'
import { COMPLETION } from './completion.ts'
import { CONFIG } from './config.ts'
import { DOCTOR } from './doctor.ts'
import { LOGIN, LOGOUT } from './login.ts'
import { MCP } from './mcp.ts'
import { MODELS } from './models.ts'
import type { Page } from './page.ts'
import { POLICY } from './policy.ts'
import { REHEARSE } from './rehearse.ts'
import { REPLAY } from './replay.ts'
import { SESSIONS } from './sessions.ts'
import { TOUR } from './tour.ts'
import { TRUST } from './trust.ts'
import { UNDO } from './undo.ts'
import { WIRE } from './wire.ts'

/** The page of every command, by its name. */
export const PAGES: Readonly<Record<string, Page>> = {
  login: LOGIN,
  logout: LOGOUT,
  models: MODELS,
  mcp: MCP,
  sessions: SESSIONS,
  undo: UNDO,
  config: CONFIG,
  trust: TRUST,
  policy: POLICY,
  doctor: DOCTOR,
  replay: REPLAY,
  bug: BUG,
  tour: TOUR,
  rehearse: REHEARSE,
  wire: WIRE,
  completion: COMPLETION,
}
