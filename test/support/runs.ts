import * as fc from 'fast-check'

/** The seed of a run, fresh each time unless one is given, so that a failure can be repeated: `SEED=… npm test -- encode`. */
export function runs(numRuns: number): { seed: number; options: fc.Parameters<unknown> & { numRuns: number } } {
  const given = Number(process.env['SEED'])
  const seed = Number.isInteger(given) && given !== 0 ? given : (Date.now() ^ (process.pid << 8)) | 0
  const times = Number(process.env['RUNS'])
  console.log(`seed ${seed}`)
  return { seed, options: { seed, numRuns: times > 0 ? times : numRuns, verbose: fc.VerbosityLevel.None } }
}
