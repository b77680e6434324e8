import { playFaults } from '../support/faults.ts'
import { streamPlays } from './stream.ts'

playFaults('faults of a stream', streamPlays)
