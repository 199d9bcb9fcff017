import AlcedoCore
import FoundationEssentials

func key(_ name: String) -> ImageKey { ImageKey(ResourceKey(name)) }

/// The block size of the file systems that tests run on, in bytes.
let block = 4096

/// Returns varying bytes.
func bytes(_ count: Int, seed: Int = 0) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 + seed) &* 131 >> 3) })
}
