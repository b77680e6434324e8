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

/**
 * How many characters the next frame draws while text arrives faster than it can be drawn, by what the last one took. The first frames
 * take longest, because their code is new to V8.
 */
export function fitFrameChars(chars: number, frameMs: number): number {
  return Math.min(Math.max(frameMs > MAX_FRAME_MS ? chars >> 1 : chars * 2, MIN_FRAME_CHARS), MAX_FRAME_CHARS)
}

const MAX_FRAME_MS = 3
/** A frame has a cost of its own: with fewer characters, a slow machine would only draw more of them. */
const MIN_FRAME_CHARS = 1000
export const FIRST_FRAME_CHARS = 500
const MAX_FRAME_CHARS = 4000
