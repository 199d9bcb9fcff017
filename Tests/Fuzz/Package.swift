// swift-tools-version: 6.2
import PackageDescription

// A separate package: its programs use the fuzzer's main function, which a plain build does not link. Scripts/fuzz
// builds and runs them.

func product(_ name: String) -> Target.Dependency { .product(name: "Alcedo\(name)", package: "Alcedo") }

let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "Alcedo", path: "../..", traits: ["AVIF", "HEIF"])],
    targets: [
        .target(
            name: "FuzzSupport", dependencies: [product("Core"), product("Testing"), product("URLResponseCache")],
            path: "Support")
    ]
        + ["PNG", "JPEG", "GIF", "WebP", "AVIF", "HEIF"].map { format in
            .executableTarget(
                name: "fuzz-\(format.lowercased())",
                dependencies: [product("Core"), "FuzzSupport", product(format)], path: format,
                exclude: ["AVIF", "HEIF"].contains(format) ? ["Seeds"] : [])
        }
        + ["Fields", "Entries"].map { part in
            .executableTarget(
                name: "fuzz-\(part.lowercased())", dependencies: ["FuzzSupport"], path: part, exclude: ["Seeds"])
        }
)
