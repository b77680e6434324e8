import { PROTECTED_PATHS } from '../../model/security/protected-paths.ts'

/**
 * Files that run something later or that decide what may run. Commands must not write them, and file tools need
 * approval, in every mode.
 */
export const PROTECTED_FILE_PATTERNS: readonly string[] = selectPatterns(false)

/** Files that a model reads as instructions. Writing them needs approval. */
export const INSTRUCTION_FILE_PATTERNS: readonly string[] = selectPatterns(true)

function selectPatterns(ofInstructions: boolean): string[] {
  const chosen = PROTECTED_PATHS.filter(({ isInstructions = false }) => isInstructions === ofInstructions)
  return [...new Set(chosen.map(({ path }) => path))]
}
