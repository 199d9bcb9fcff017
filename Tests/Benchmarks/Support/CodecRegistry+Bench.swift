import Alcedo
#if HEIF
    import AlcedoHEIF
#endif
import AlcedoProgramSupport

extension CodecRegistry {
    /// The codecs of the programs, with that of HEIF in this process.
    static var inProcess: CodecRegistry {
        #if HEIF
            return .programs.adding(.heifInProcess)
        #else
            return .programs
        #endif
    }
}
