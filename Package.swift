// swift-tools-version: 6.2
import PackageDescription

// One library product for each module, and no dependency between modules that is not written here.
// Scripts/check-arrows compares this list, as SwiftPM sees it, with the article Architecture.md.
//
// For Linux with glibc, on x86-64 and aarch64. LinuxNotes.md says what is tested on Debian 12, Debian 13, with Swift 6.2 and
// for aarch64. Musl is not tested.

/// Asked for only where the trait is on, so that nobody else needs GTK's headers.
let gtkLibrary = Target.Dependency.target(name: "CGTK", condition: .when(platforms: [.linux], traits: ["GTK"]))

let package = Package(
    name: "Alcedo",
    products: [
        "Alcedo", "AlcedoCore", "AlcedoHTTP", "AlcedoMemoryCache", "AlcedoNSCache", "AlcedoDiskCache",
        "AlcedoSQLiteCache", "AlcedoRedisCache", "AlcedoURLResponseCache", "AlcedoDownloader", "AlcedoCURL",
        "AlcedoURLSession", "AlcedoCodecs", "AlcedoPNG", "AlcedoJPEG", "AlcedoGIF", "AlcedoWebP", "AlcedoProcessing",
        "AlcedoPipeline", "AlcedoViewBinding", "AlcedoTerminal", "AlcedoGTK", "AlcedoTesting",
    ].map { .library(name: $0, targets: [$0]) } + [
        .executable(name: "alcedo", targets: ["AlcedoTool"]),
        .executable(name: "thumbnail-server", targets: ["thumbnail-server"]),
    ],
    traits: [
        .trait(name: "GTK", description: "GTK 4 views; needs libgtk-4-dev."),
        .default(enabledTraits: []),
    ],
    targets: [
        // The C library, in one place, and what has to do with no image: locks, executors, hashes, directories. Nothing in
        // them is public. Every other Swift target gets both dependencies below.
        .target(name: "AlcedoLibc", path: "Modules/Libc"),
        .target(
            name: "AlcedoRuntime", dependencies: ["CFileSystemShim"], path: "Modules/Runtime",
            exclude: ["CFileSystemShim"]),

        // Core, and the HTTP that it speaks of
        .target(name: "AlcedoHTTP", path: "Modules/HTTP"),
        .target(
            name: "AlcedoCore", dependencies: ["AlcedoHTTP"], path: "Modules/Core",
            swiftSettings: [.enableExperimentalFeature("Lifetimes")]),

        // Caches
        .target(name: "AlcedoMemoryCache", dependencies: ["AlcedoCore"], path: "Modules/MemoryCache/Bounded"),
        .target(
            name: "AlcedoNSCache", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/MemoryCache/NSCache"),
        .target(name: "AlcedoDiskCache", dependencies: ["AlcedoCore"], path: "Modules/DiskCache/Files"),
        .target(
            name: "AlcedoSQLiteCache", dependencies: ["AlcedoCore", "CSQLite"],
            path: "Modules/DiskCache/SQLite"),
        .target(
            name: "AlcedoRedisCache", dependencies: ["AlcedoCore", "CHiredis"], path: "Modules/RedisCache/Redis"),
        .target(
            name: "AlcedoURLResponseCache", dependencies: ["AlcedoCore", "AlcedoHTTP"],
            path: "Modules/URLResponseCache",
            exclude: ["README.md"]),

        // Downloads
        .target(
            name: "AlcedoDownloader", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/Downloader/Downloader"),
        .target(
            name: "AlcedoCURL", dependencies: ["AlcedoCore", "AlcedoHTTP", "CCURLShim"], path: "Modules/Downloader/CURL"
        ),
        .target(
            name: "AlcedoURLSession", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/Downloader/URLSession"),

        // Codecs
        .target(
            name: "AlcedoCodecs",
            dependencies: ["AlcedoCore", "AlcedoPNG", "AlcedoJPEG", "AlcedoGIF", "AlcedoWebP"],
            path: "Modules/Codecs/All"),
        .target(name: "AlcedoPNG", dependencies: ["AlcedoCore", "CPNGShim"], path: "Modules/Codecs/PNG"),
        .target(name: "AlcedoJPEG", dependencies: ["AlcedoCore", "CJPEGShim"], path: "Modules/Codecs/JPEG"),
        .target(name: "AlcedoGIF", dependencies: ["AlcedoCore", "CGIFShim"], path: "Modules/Codecs/GIF"),
        .target(name: "AlcedoWebP", dependencies: ["AlcedoCore", "CWebP"], path: "Modules/Codecs/WebP"),

        // Pixels, pipeline, views
        .target(
            name: "AlcedoProcessing", dependencies: ["AlcedoCore", "CSampleKernels"], path: "Modules/Processing",
            exclude: ["CSampleKernels", "README.md"]),
        .target(
            name: "AlcedoPipeline", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/Pipeline",
            exclude: ["README.md"]),
        .target(
            name: "AlcedoViewBinding", dependencies: ["AlcedoCore"], path: "Modules/ViewBinding",
            exclude: ["CGTK", "GTK", "README.md", "Terminal"], sources: ["Animation", "Binding"]),
        .target(
            name: "AlcedoTerminal", dependencies: ["AlcedoCore", "AlcedoViewBinding"],
            path: "Modules/ViewBinding/Terminal"),
        .target(
            name: "AlcedoGTK",
            dependencies: ["AlcedoCore", "AlcedoViewBinding", gtkLibrary],
            path: "Modules/ViewBinding/GTK", exclude: ["README.md"]),

        // For tests, and the stack that ties everything together
        .target(name: "AlcedoTesting", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/Testing"),
        .target(
            name: "Alcedo",
            dependencies: [
                "AlcedoCore", "AlcedoHTTP", "AlcedoMemoryCache", "AlcedoDiskCache", "AlcedoURLResponseCache",
                "AlcedoDownloader", "AlcedoCURL", "AlcedoCodecs", "AlcedoProcessing", "AlcedoPipeline",
                "AlcedoViewBinding",
            ],
            path: "Modules/Standard"),

        // Programs
        .target(
            name: "AlcedoProgramSupport", dependencies: ["Alcedo", "AlcedoHTTP", "AlcedoTerminal"],
            path: "Modules/ProgramSupport",
            exclude: ["CMalloc"]),
        .systemLibrary(name: "CMalloc", path: "Modules/ProgramSupport/CMalloc"),
        .executableTarget(
            name: "AlcedoTool",
            dependencies: [
                "Alcedo", "AlcedoCore", "AlcedoDiskCache", "AlcedoHTTP", "AlcedoProgramSupport", "AlcedoTerminal",
            ],
            path: "Modules/CommandLine", exclude: ["README.md", "show.png"]),
        .executableTarget(
            name: "thumbnail-server",
            dependencies: [
                "Alcedo", "AlcedoHTTP", "AlcedoProgramSupport", "AlcedoRedisCache", "CHTTPServerShim", "CMalloc",
            ],
            path: "Modules/ThumbnailServer", exclude: ["CHTTPServerShim", "CMicroHTTPD", "README.md"]),
        .target(
            name: "CHTTPServerShim", dependencies: ["CMicroHTTPD"], path: "Modules/ThumbnailServer/CHTTPServerShim",
            // No Swift imports the library itself, which would link it.
            linkerSettings: [.linkedLibrary("microhttpd")]),
        .systemLibrary(
            name: "CMicroHTTPD", path: "Modules/ThumbnailServer/CMicroHTTPD",
            providers: [.apt(["libmicrohttpd-dev"]), .yum(["libmicrohttpd-devel"]), .brew(["libmicrohttpd"])]),

        // Examples: they have products of this package only, and no package access, as another package would.
        .executableTarget(
            name: "quickstart", dependencies: ["Alcedo", "AlcedoTesting"],
            path: "Examples/Quickstart", exclude: ["README.md", "contact-sheet.png"], resources: [.copy("Pictures")],
            packageAccess: false),
        .executableTarget(
            name: "upload-to-thumbnail", dependencies: ["Alcedo"], path: "Examples/UploadToThumbnail",
            exclude: ["README.md"], packageAccess: false),
        .executableTarget(
            name: "swap-backends", dependencies: ["Alcedo", "AlcedoHTTP", "AlcedoSQLiteCache", "AlcedoTesting"],
            path: "Examples/SwapBackends", exclude: ["README.md"], packageAccess: false),
        .executableTarget(
            name: "custom-codec", dependencies: ["Alcedo", "AlcedoCore"], path: "Examples/CustomCodec",
            exclude: ["README.md"], packageAccess: false),
        .executableTarget(
            name: "custom-backend", dependencies: ["Alcedo", "AlcedoCore", "AlcedoTesting"],
            path: "Examples/CustomBackend", exclude: ["README.md"], packageAccess: false),
        .executableTarget(
            name: "http-cache-client",
            dependencies: ["AlcedoCURL", "AlcedoDiskCache", "AlcedoHTTP", "AlcedoURLResponseCache"],
            path: "Examples/HTTPCacheClient", exclude: ["README.md"], packageAccess: false),
        // Says so, and no more, where the trait is off.
        .executableTarget(
            name: "gallery",
            dependencies: ["Alcedo", "AlcedoGTK", "AlcedoHTTP", "AlcedoTesting", "CMalloc", gtkLibrary],
            path: "Examples/Gallery", exclude: ["README.md", "gallery.png"], packageAccess: false),

        // C: shims of our own, and the system's libraries
        .target(
            name: "CPNGShim", dependencies: ["CPNG"], path: "Modules/Codecs/CPNGShim",
            // Comes with libpng, which stands on it.
            linkerSettings: [.linkedLibrary("z")]),
        .target(name: "CJPEGShim", dependencies: ["CJPEG"], path: "Modules/Codecs/CJPEGShim"),
        .target(name: "CGIFShim", dependencies: ["CGIF"], path: "Modules/Codecs/CGIFShim"),
        .target(name: "CSampleKernels", path: "Modules/Processing/CSampleKernels"),
        .target(name: "CFileSystemShim", path: "Modules/Runtime/CFileSystemShim"),
        .target(name: "CCURLShim", dependencies: ["CCURL"], path: "Modules/Downloader/CCURLShim"),
        .systemLibrary(
            name: "CPNG", path: "Modules/Codecs/CPNG", pkgConfig: "libpng",
            providers: [.apt(["libpng-dev"]), .yum(["libpng-devel"]), .brew(["libpng"])]),
        .systemLibrary(
            name: "CJPEG", path: "Modules/Codecs/CJPEG", pkgConfig: "libjpeg",
            providers: [.apt(["libjpeg-dev"]), .yum(["libjpeg-turbo-devel"]), .brew(["jpeg-turbo"])]),
        .systemLibrary(
            name: "CGIF", path: "Modules/Codecs/CGIF",
            providers: [.apt(["libgif-dev"]), .yum(["giflib-devel"]), .brew(["giflib"])]),
        .systemLibrary(
            name: "CWebP", path: "Modules/Codecs/CWebP", pkgConfig: "libwebp",
            providers: [.apt(["libwebp-dev"]), .yum(["libwebp-devel"]), .brew(["webp"])]),
        .systemLibrary(
            name: "CCURL", path: "Modules/Downloader/CCURL", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .yum(["libcurl-devel"]), .brew(["curl"])]),
        // Its pkg-config file has a flag that SwiftPM refuses.
        .systemLibrary(
            name: "CHiredis", path: "Modules/RedisCache/CHiredis",
            providers: [.apt(["libhiredis-dev"]), .yum(["hiredis-devel"]), .brew(["hiredis"])]),
        .systemLibrary(
            name: "CSQLite", path: "Modules/DiskCache/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CGTK", path: "Modules/ViewBinding/CGTK", pkgConfig: "gtk4",
            providers: [.apt(["libgtk-4-dev"]), .yum(["gtk4-devel"]), .brew(["gtk4"])]),
    ]
)

// One test target a module, in a folder of the module's short name.
let tests: [(name: String, needs: [Target.Dependency], hasFixtures: Bool)] = [
    ("CURL", ["AlcedoTesting", "TestSupport"], false),
    ("Core", ["AlcedoTesting", "TestSupport"], false),
    ("DiskCache", ["AlcedoTesting", "CFileSystemShim", "TestSupport"], false),
    (
        "Downloader",
        [
            "AlcedoCURL", "AlcedoDiskCache", "AlcedoMemoryCache", "AlcedoTesting", "AlcedoURLResponseCache",
            "TestSupport",
        ], false
    ),
    ("GIF", ["AlcedoTesting", "TestSupport"], true),
    ("GTK", ["AlcedoViewBinding", "gallery", "TestSupport", gtkLibrary], false),
    ("HTTP", ["AlcedoTesting", "TestSupport"], false),
    ("JPEG", ["AlcedoTesting", "TestSupport"], true),
    ("MemoryCache", ["AlcedoTesting", "TestSupport"], false),
    ("NSCache", ["AlcedoTesting", "TestSupport"], false),
    (
        "Pipeline",
        [
            "AlcedoCodecs", "AlcedoDiskCache", "AlcedoDownloader", "AlcedoMemoryCache", "AlcedoNSCache",
            "AlcedoRedisCache", "AlcedoSQLiteCache", "AlcedoTesting", "TestSupport",
        ], false
    ),
    ("PNG", ["AlcedoJPEG", "AlcedoTesting", "TestSupport"], true),
    ("Processing", ["AlcedoPNG", "AlcedoTesting", "TestSupport"], true),
    ("RedisCache", ["AlcedoTesting", "TestSupport"], false),
    ("Runtime", ["AlcedoTesting", "TestSupport"], false),
    ("SQLiteCache", ["AlcedoTesting", "TestSupport"], false),
    ("Terminal", ["AlcedoTesting", "AlcedoViewBinding", "TestSupport"], true),
    ("Testing", ["AlcedoCURL", "TestSupport"], false),
    (
        "URLResponseCache",
        ["AlcedoCURL", "AlcedoDiskCache", "AlcedoMemoryCache", "AlcedoTesting", "TestSupport"], false
    ),
    ("URLSession", ["AlcedoTesting", "TestSupport"], false),
    ("ViewBinding", ["AlcedoTesting", "TestSupport"], false),
    ("WebP", ["AlcedoTesting", "CWebP", "TestSupport"], true),
]
for test in tests {
    package.targets.append(
        .testTarget(
            name: "Alcedo\(test.name)Tests",
            dependencies: (["Core", "HTTP"].contains(test.name) ? [] : ["AlcedoHTTP"])
                + (test.name == "Core" ? ["AlcedoHTTP"] : ["AlcedoCore"])
                + (test.name == "Runtime" ? [] : [.init(stringLiteral: "Alcedo\(test.name)")]) + test.needs,
            path: "Tests/\(test.name)",
            exclude: test.name == "Processing" ? ["Golden"] : [],
            resources: test.hasFixtures ? [.copy("Fixtures")] : []))
}

package.targets += [
    .executableTarget(
        name: "alcedo-bench",
        dependencies: [
            "Alcedo", "AlcedoCore", "AlcedoDiskCache", "AlcedoHTTP", "AlcedoMemoryCache", "AlcedoProgramSupport",
            "AlcedoSQLiteCache",
            "AlcedoTesting", "AlcedoURLResponseCache", "CMultiLoop", "CReferenceDecoders",
        ],
        path: "Tests/Benchmarks", exclude: ["CMultiLoop", "CReferenceDecoders", "report.md", "report.svg"]),
    .target(name: "CMultiLoop", dependencies: ["CCURL"], path: "Tests/Benchmarks/CMultiLoop"),
    .target(
        name: "CReferenceDecoders", dependencies: ["CPNG", "CJPEG", "CGIF", "CWebP"],
        path: "Tests/Benchmarks/CReferenceDecoders"),
    .executableTarget(
        name: "conformance", dependencies: ["AlcedoCore", "AlcedoCodecs", "AlcedoTesting"], path: "Tests/Conformance"),
    .target(name: "TestSupport", dependencies: ["AlcedoCore", "AlcedoTesting"], path: "Tests/Support"),
    .testTarget(
        name: "AlcedoTests", dependencies: ["Alcedo", "AlcedoTesting", "TestSupport"], path: "Tests/Standard"),
    // As an outside user: what `import Alcedo` brings has to be enough.
    .testTarget(
        name: "AlcedoCallSiteTests", dependencies: ["Alcedo", "AlcedoTesting"], path: "Tests/CallSites",
        packageAccess: false),
    .testTarget(
        name: "AlcedoCollisionTests", dependencies: ["Alcedo", "Crypto", "HTTPTypes", "SwiftCrossUI"],
        path: "Tests/Collisions/Importing", packageAccess: false),
    // These stand for other packages. As test targets they are no part of the package for those who depend on it.
    .testTarget(name: "Crypto", path: "Tests/Collisions/Crypto"),
    .testTarget(name: "HTTPTypes", path: "Tests/Collisions/HTTPTypes"),
    .testTarget(name: "SwiftCrossUI", path: "Tests/Collisions/SwiftCrossUI"),
    .testTarget(
        name: "AlcedoURLResponseCacheFaultTests",
        dependencies: [
            "AlcedoCore", "AlcedoDiskCache", "AlcedoMemoryCache", "AlcedoSQLiteCache", "AlcedoTesting",
            "AlcedoURLResponseCache", "TestSupport",
        ],
        path: "Tests/URLResponseCacheFaults"),
    .testTarget(
        name: "ReadmeTests",
        dependencies: ["AlcedoCodecs", "AlcedoCore", "AlcedoTesting"], path: "Tests/Readme", packageAccess: false),
    .testTarget(
        name: "HTTPCacheClientTests",
        dependencies: ["AlcedoCore", "AlcedoTesting", "TestSupport", "http-cache-client"],
        path: "Tests/HTTPCacheClient"),
    .testTarget(
        name: "ThumbnailServerTests",
        dependencies: [
            "Alcedo", "AlcedoRedisCache", "AlcedoTesting", "AlcedoProgramSupport", "TestSupport", "thumbnail-server",
        ],
        path: "Tests/ThumbnailServer"),
    .testTarget(
        name: "ToolTests",
        dependencies: [
            "Alcedo", "AlcedoProgramSupport", "AlcedoTesting", "AlcedoTool", "CReferenceDecoders", "TestSupport",
            "alcedo-bench",
        ],
        path: "Tests/Tool",
        exclude: ["Fixtures"]),
    .testTarget(
        name: "ExampleTests",
        dependencies: [
            "Alcedo", "AlcedoHTTP", "AlcedoTesting", "TestSupport", "custom-backend", "custom-codec", "quickstart",
            "swap-backends", "upload-to-thumbnail",
        ],
        path: "Tests/Examples"),
]

let cTargets: Set = [
    "CFileSystemShim", "CHTTPServerShim", "CPNGShim", "CJPEGShim", "CGIFShim", "CCURLShim", "CMultiLoop",
    "CReferenceDecoders", "CSampleKernels",
]
// Whether warnings are errors. Scripts/check sets this variable. A dependent package must not fail because a newer compiler
// emits a new warning; SwiftPM also passes -suppress-warnings to dependencies, which swiftc refuses beside this setting.
let warningsAreErrors = Context.environment["ALCEDO_WARNINGS_AS_ERRORS"] != nil
for target in package.targets where [.regular, .test, .executable].contains(target.type) {
    if cTargets.contains(target.name) {
        if warningsAreErrors { target.cSettings = (target.cSettings ?? []) + [.treatAllWarnings(as: .error)] }
        continue
    }
    if target.name != "AlcedoLibc", target.packageAccess {
        target.dependencies.append("AlcedoLibc")
        if target.name != "AlcedoRuntime" { target.dependencies.append("AlcedoRuntime") }
    }
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .swiftLanguageMode(.v6),
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])
}

// For Scripts/coverage. Swift 6.3 crashes where it is to count in an isolated deinitializer, so it counts elsewhere.
let uncounted: Set = ["AlcedoViewBinding", "AlcedoTerminal", "AlcedoGTK"]
if Context.environment["ALCEDO_COVERAGE"] != nil {
    for target in package.targets where target.type == .regular {
        guard target.path?.hasPrefix("Modules/") == true, !uncounted.contains(target.name) else { continue }
        if cTargets.contains(target.name) {
            target.cSettings =
                (target.cSettings ?? []) + [
                    .unsafeFlags(["-fprofile-instr-generate", "-fcoverage-mapping"])
                ]
        } else {
            target.swiftSettings?.append(.unsafeFlags(["-profile-generate", "-profile-coverage-mapping"]))
        }
    }
}

// For the optimised tests of Scripts/check. Swift 6.3 crashes while it optimises some tests, so only what they test
// is optimised.
if Context.environment["ALCEDO_PLAIN_TESTS"] != nil {
    for target in package.targets where target.type == .test {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
    }
}
