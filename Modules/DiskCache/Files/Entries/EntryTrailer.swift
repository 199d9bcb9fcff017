import AlcedoCore

/// The last 56 bytes of an entry's file, in little-endian order:
///
///     0   8  magic, with the version of the layout
///     8   4  bytes of the resource's name
///     12  4  bytes of the variant's name
///     16  4  bytes of the metadata
///     20  4  nought
///     24  8  bytes of the data
///     32  8  when it was stored, in milliseconds since 1970
///     40  8  its expiry, the same way; the least number for none
///     48  8  XXH64 of the resource, variant and metadata, seeded by that of the data, seeded by that of bytes 0 to 47
struct EntryTrailer: Sendable {
    static let size = 56
    static let checksumOffset = 48
    private static let magic: UInt64 = 0x3230_4F44_4543_4C41

    var resourceCount: Int
    var variantCount: Int
    var metadataCount: Int
    var dataCount: Int
    var storedAt: Timestamp
    var expiry: Timestamp?

    /// What comes behind the data, without the trailer.
    var notesCount: Int { resourceCount + variantCount + metadataCount }

    /// nil when a count does not fit its field.
    init?(
        resourceCount: Int, variantCount: Int, metadataCount: Int, dataCount: Int, storedAt: Timestamp,
        expiry: Timestamp?
    ) {
        for count in [resourceCount, variantCount, metadataCount] where UInt32(exactly: count) == nil { return nil }
        self.resourceCount = resourceCount
        self.variantCount = variantCount
        self.metadataCount = metadataCount
        self.dataCount = dataCount
        self.storedAt = storedAt
        self.expiry = expiry
    }

    /// nil unless the bytes are a trailer, of a file of that size.
    init?(_ bytes: RawSpan, fileSize: Int) {
        guard bytes.byteCount == Self.size, bytes.number(at: 0, as: UInt64.self) == Self.magic else { return nil }
        resourceCount = Int(bytes.number(at: 8, as: UInt32.self))
        variantCount = Int(bytes.number(at: 12, as: UInt32.self))
        metadataCount = Int(bytes.number(at: 16, as: UInt32.self))
        dataCount = fileSize - Self.size - resourceCount - variantCount - metadataCount
        guard dataCount >= 0, bytes.number(at: 24, as: UInt64.self) == UInt64(dataCount) else { return nil }
        storedAt = Timestamp(milliseconds: bytes.number(at: 32, as: Int64.self))
        let expiry = bytes.number(at: 40, as: Int64.self)
        self.expiry = expiry == .min ? nil : Timestamp(milliseconds: expiry)
    }

    /// The bytes before the checksum.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        bytes.append(number: Self.magic)
        for count in [resourceCount, variantCount, metadataCount, 0] { bytes.append(number: UInt32(count)) }
        bytes.append(number: UInt64(dataCount))
        bytes.append(number: storedAt.milliseconds)
        bytes.append(number: expiry?.milliseconds ?? .min)
        return bytes
    }
}
