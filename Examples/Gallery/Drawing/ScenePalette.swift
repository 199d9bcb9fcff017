#if GTK
    /// The colours of a time of day: red, green and blue from 0 to 1.
    struct ScenePalette {
        typealias Color = SIMD3<Float>

        var name: String
        var zenith: Color
        var horizon: Color
        var light: Color
        var farHill: Color
        var nearHill: Color
        var hasStars = false

        static let all = [
            ScenePalette(
                name: "Dawn", zenith: hex(0x2B3A67), horizon: hex(0xF7B7A3), light: hex(0xFFE3B8),
                farHill: hex(0xB98FA6), nearHill: hex(0x2A2140)),
            ScenePalette(
                name: "Clear", zenith: hex(0x2F7FC1), horizon: hex(0xCFE8F5), light: hex(0xFFFFFF),
                farHill: hex(0x8FB3C9), nearHill: hex(0x1F4A3A)),
            ScenePalette(
                name: "Golden", zenith: hex(0x6E4A7E), horizon: hex(0xFFC46B), light: hex(0xFFF1C9),
                farHill: hex(0xD98E5F), nearHill: hex(0x3A1F2B)),
            ScenePalette(
                name: "Misty", zenith: hex(0x8FA3AD), horizon: hex(0xE6ECEC), light: hex(0xF8FBFA),
                farHill: hex(0xBECBCD), nearHill: hex(0x33484E)),
            ScenePalette(
                name: "Starry", zenith: hex(0x070B22), horizon: hex(0x2C3F73), light: hex(0xE9EDFF),
                farHill: hex(0x24325C), nearHill: hex(0x05070F), hasStars: true),
            ScenePalette(
                name: "Winter", zenith: hex(0x6FA0CF), horizon: hex(0xF3E7EF), light: hex(0xFFF7F0),
                farHill: hex(0xD5DFEC), nearHill: hex(0x5C7596)),
            ScenePalette(
                name: "Desert", zenith: hex(0x3E7CA6), horizon: hex(0xF6DDB0), light: hex(0xFFF6D8),
                farHill: hex(0xDDAA73), nearHill: hex(0x8A4B2A)),
            ScenePalette(
                name: "Northern", zenith: hex(0x04141F), horizon: hex(0x1D6E63), light: hex(0xC9FFE6),
                farHill: hex(0x14474A), nearHill: hex(0x030B0E), hasStars: true),
        ]

        private static func hex(_ value: Int) -> Color {
            Color(Float(value >> 16), Float(value >> 8 & 255), Float(value & 255)) / 255
        }
    }
#endif
