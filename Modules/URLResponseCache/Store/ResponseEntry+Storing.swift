import AlcedoCore
import FoundationEssentials

extension ResponseEntry {
    /// Bytes that the entry takes in memory, roughly.
    var cost: Int {
        // What the values and a list's own links take beside their bytes.
        let overhead = 640
        switch self {
        case .response(let response):
            let fields = response.head.fields.fields + response.varyingFields.fields
            let notes = response.userInfo.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 64 }
            return fields.reduce(response.body.count + overhead + notes) {
                $0 + $1.name.utf8.count + $1.value.utf8.count + 64
            }
        case .variants(let variants):
            let names = variants.nameLists.joined().reduce(0) { $0 + $1.utf8.count + 32 }
            return variants.tagged.reduce(overhead + names) {
                $0 + $1.variant.utf8.count + $1.entityTag.utf8.count + 64
            }
        }
    }

    var storagePolicy: ResponseStoragePolicy {
        if case .response(let response) = self { response.storagePolicy } else { .allowed }
    }

    /// Whether this is an answer that arrived at `date` or later.
    func isStored(since date: Date) -> Bool {
        if case .response(let response) = self { response.responseTime >= date } else { false }
    }
}
