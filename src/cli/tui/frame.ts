import { takeBlocksForScrollback } from './conversation-state.ts'
import type { Screen } from './term/screen.ts'
import type { UiState } from './ui-state.ts'
import { renderBlock, renderLiveScreen } from './view/live-screen.ts'
import type { ViewOptions } from './view/view-options.ts'

type FrameOptions = ViewOptions & { readonly rows: number }

/** Draws the state: what is final goes to the scrollback. Returns the state without it. */
export function drawFrame(state: UiState, screen: Pick<Screen, 'update'>, options: FrameOptions, now: number): UiState {
  const { final, rest } = takeBlocksForScrollback(state.conversation)
  const next: UiState = { ...state, conversation: rest }
  const { lines, cursor } = renderLiveScreen(next, options, now)
  screen.update(
    final.flatMap((block) => renderBlock(block, options, now)),
    lines,
    cursor,
  )
  return next
}

/** The time from a change to the frame that shows it; longer if frames take long: they get a share of the time. */
export function getFrameDelay(lastFrameMs: number): number {
  return Math.min(Math.max(FRAME_DELAY_MS, lastFrameMs * 8), MAX_FRAME_DELAY_MS)
}

const FRAME_DELAY_MS = 33
const MAX_FRAME_DELAY_MS = 250
