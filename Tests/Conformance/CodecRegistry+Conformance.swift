import AlcedoCore
#if HEIF
    import AlcedoHEIF
#endif
import AlcedoProgramSupport
#if SVG
    import AlcedoSVG
#endif

extension CodecRegistry {
    /// The codecs of the programs, with the decoder of HEIF in this process. An SVG is drawn three times within the
    /// time limit of a bad file.
    static let conformance = CodecRegistry.programs
        #if HEIF
            .adding(.heifInProcess)
        #endif
        #if SVG
            .adding(.svg(timeLimit: .seconds(2)))
        #endif

    /// Whether a format has a codec. Files without a format are of the formats of AlcedoCodecs.
    func contains(format name: String?) -> Bool {
        name.map { name in entries.contains { $0.format.rawValue == name } } ?? true
    }
}
