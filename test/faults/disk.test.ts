import { playFaults } from '../support/faults.ts'
import { diskPlays } from './disk.ts'

// The disk is the same for all of this process.
playFaults('faults of a disk', diskPlays, 1)
