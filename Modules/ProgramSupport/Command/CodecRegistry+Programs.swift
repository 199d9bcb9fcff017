#if AVIF
    import AlcedoAVIF
#endif
import AlcedoCodecs
package import AlcedoCore

extension CodecRegistry {
    /// The codecs of the programs: those of AlcedoCodecs, and AVIF in a build with the package trait `AVIF`.
    package static var programs: CodecRegistry {
        #if AVIF
            return .standard.adding(.avif)
        #else
            return .standard
        #endif
    }
}
