#if HEIF
    import AlcedoBoxes
    import AlcedoCore

    /// The parameter sets of coded pictures: the box `hvcC`. Source: ISO/IEC 14496-15, section 8.3.3.
    struct HEVCConfiguration {
        /// The number of bytes of the length before each NAL unit of a picture.
        let lengthSize: Int
        let sequence: SequenceParameterSet
        /// The parameter sets, each after its length in four bytes.
        let parameterSets: [UInt8]
        let parameterSetCount: Int

        /// The types of NAL units with parameter sets.
        static let types = 32...34
        /// The maximum number of parameter sets of a picture. For each picture parameter set, libde265 keeps tables
        /// that grow with the picture.
        static let maximumParameterSetCount = 16
        /// The maximum number of bytes of the parameter sets, which are passed to libde265 again for every tile.
        private static let maximumByteCount = 1 << 16

        /// Reads the box.
        ///
        /// - Throws: `corrupt`, `exceedsLimit` for too many parameter sets, and the errors of
        ///   ``SequenceParameterSet``. All of its sequence parameter sets must be equal.
        init(_ box: Box) throws(ImageDecodingError) {
            let bytes = box.bytes
            var reader = box.reader
            try reader.skip(21)
            lengthSize = try reader.number(1) & 3 + 1
            var parameterSets: [UInt8] = []
            var parameterSetCount = 0
            var sequence: SequenceParameterSet?
            for _ in 0..<(try reader.number(1)) {
                let type = try reader.number(1) & 63
                for _ in 0..<(try reader.number(2)) {
                    let count = try reader.number(2)
                    let range = reader.position..<reader.position + count
                    try reader.skip(count)
                    guard let unit = NALUnit(bytes[range]), unit.isInBaseLayer, unit.type == type else { continue }
                    guard Self.types.contains(type) else { continue }
                    if type == 33 {
                        let set = try SequenceParameterSet(bytes[range])
                        try sequence?.check(set)
                        sequence = set
                    }
                    parameterSets.append(number: count, 4)
                    parameterSets += bytes[range]
                    parameterSetCount += 1
                    guard
                        parameterSetCount <= Self.maximumParameterSetCount,
                        parameterSets.count <= Self.maximumByteCount
                    else { throw ImageDecodingError(.exceedsLimit, "HEIF: a picture has too many parameter sets") }
                }
            }
            guard let sequence else {
                throw ImageDecodingError(.corrupt, "HEIF: a configuration has no sequence parameter set")
            }
            self.sequence = sequence
            self.parameterSets = parameterSets
            self.parameterSetCount = parameterSetCount
        }
    }

    extension SequenceParameterSet {
        /// Throws `unsupportedVariant` when another set is for other pictures.
        func check(_ other: SequenceParameterSet) throws(ImageDecodingError) {
            guard other == self else {
                throw ImageDecodingError(.unsupportedVariant, "HEIF: a picture has several sizes or depths")
            }
        }
    }

    /// A unit of an HEVC bitstream. Source: ITU-T H.265, section 7.3.1.2.
    struct NALUnit {
        let type: Int
        /// Whether the unit does not belong to another layer.
        let isInBaseLayer: Bool
        /// Whether the unit holds a part of a picture, of a type that is in use.
        let isSlice: Bool
        /// Whether the unit belongs to a picture that cannot refer to others.
        let isIndependent: Bool
        /// Whether the unit is the first of a picture.
        let beginsPicture: Bool

        /// Reads the header. Returns nil when it is incomplete or has an invalid layer.
        init?(_ bytes: some Collection<UInt8>) {
            var iterator = bytes.makeIterator()
            // libde265 also removes a byte that prevents a start code after a second byte of 0, and BitReader does not.
            // With such a header, the two could read different sizes.
            guard let first = iterator.next(), let second = iterator.next(), second & 7 > 0 else { return nil }
            type = Int(first >> 1 & 63)
            isInBaseLayer = first & 1 == 0 && second >> 3 == 0
            isSlice = type <= 9 || 16...21 ~= type
            // Instantaneous decoding refresh (IDR) pictures.
            isIndependent = 19...20 ~= type
            beginsPicture = isSlice && (iterator.next() ?? 0) >> 7 == 1
        }
    }

    extension [UInt8] {
        /// Appends a number of `count` bytes, big-endian.
        mutating func append(number: Int, _ count: Int) {
            for index in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
        }
    }
#endif
