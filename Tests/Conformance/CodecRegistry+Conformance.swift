#if AVIF
    import AlcedoAVIF
#endif
import AlcedoBMP
import AlcedoCodecs
import AlcedoCore
#if HEIF
    import AlcedoHEIF
#endif
#if JXL
    import AlcedoJXL
#endif
#if SVG
    import AlcedoSVG
#endif

extension CodecRegistry {
    /// The codecs of AlcedoCodecs, of AlcedoBMP and of the enabled package traits. An SVG is drawn three times within
    /// the time limit of a bad file.
    static let conformance = CodecRegistry.standard
        .adding(.bmp)
        .adding(.ico(png: .png))
        #if AVIF
            .adding(.avif)
        #endif
        #if HEIF
            .adding(.heifInProcess)
        #endif
        #if JXL
            .adding(.jxl)
        #endif
        #if SVG
            .adding(.svg(timeLimit: .seconds(2)))
        #endif

    /// Whether a format has a codec. Files without a format are of the formats of AlcedoCodecs.
    func contains(format name: String?) -> Bool {
        name.map { name in entries.contains { $0.format.rawValue == name } } ?? true
    }
}
