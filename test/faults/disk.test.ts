import { playFaults } from '../support/faults.ts'
import { diskPlays } from './disk.ts'

playFaults('faults of a disk', diskPlays)
